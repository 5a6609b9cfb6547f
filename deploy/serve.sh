#!/bin/sh
# Starts an MLflow server that asks for passwords, in the current folder: its artifacts and its users are kept there.
#
#   DATABASE   address of the database, without a password: postgresql+psycopg://USER@HOST/NAME
#   SECRETS    folder of the files database_password, admin_password and session_key    (/run/secrets)
#   HOST, PORT where it answers                                                         (127.0.0.1, 5000)
#   WORKERS    processes that answer                                                    (2)
#   PYTHON     a Python that has MLflow                                                 (python3)
#
# Secrets are read from files and handed on in the environment, so that no command line shows them.
set -eu
secrets="${SECRETS:-/run/secrets}"

PGPASSWORD="$(cat "$secrets/database_password")"
MLFLOW_AUTH_ADMIN_USERNAME=admin
MLFLOW_AUTH_ADMIN_PASSWORD="$(cat "$secrets/admin_password")"
MLFLOW_FLASK_SERVER_SECRET_KEY="$(cat "$secrets/session_key")"
MLFLOW_AUTH_CONFIG_PATH="$(cd "$(dirname "$0")" && pwd)/auth.ini"
MLFLOW_BACKEND_STORE_URI="$DATABASE"
MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false
MLFLOW_DISABLE_TELEMETRY=true
export PGPASSWORD MLFLOW_AUTH_ADMIN_USERNAME MLFLOW_AUTH_ADMIN_PASSWORD MLFLOW_FLASK_SERVER_SECRET_KEY \
  MLFLOW_AUTH_CONFIG_PATH MLFLOW_BACKEND_STORE_URI MLFLOW_SERVER_ENABLE_JOB_EXECUTION MLFLOW_DISABLE_TELEMETRY

exec "${PYTHON:-python3}" -m mlflow server --app-name basic-auth --host "${HOST:-127.0.0.1}" --port "${PORT:-5000}" \
  --workers "${WORKERS:-2}" --artifacts-destination "$PWD/artifacts"
