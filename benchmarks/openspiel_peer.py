"""OpenSpiel's tabular Q-learner on OpenSpiel's tic-tac-toe, against OpenSpiel's random agent."""

from __future__ import annotations


def train(num_games: int, epsilon: float = 0.1, alpha: float = 0.1, gamma: float = 0.9) -> dict:
    """Train the first player and return its table.

    Raises:
        ImportError: OpenSpiel is not installed (the extra `bench`).
    """
    from open_spiel.python import rl_environment, rl_tools
    from open_spiel.python.algorithms import random_agent, tabular_qlearner

    environment = rl_environment.Environment("tic_tac_toe")
    num_actions = environment.action_spec()["num_actions"]
    schedule = rl_tools.ConstantSchedule(epsilon)
    learner = tabular_qlearner.QLearner(0, num_actions, alpha, schedule, gamma)
    players = [learner, random_agent.RandomAgent(1, num_actions)]
    for _ in range(num_games):
        step = environment.reset()
        while not step.last():
            player = step.observations["current_player"]
            step = environment.step([players[player].step(step).action])
        for player in players:
            player.step(step)
    return learner._q_values
