"""From runs to figures, tables and a page. Reads what tracking holds; knows nothing of how runs are made.

Start with `build.build_report`. The order of the data: `load` (runs as tables) → `selection` (a section's groups) →
`statistics`, `comparison`, `variance`, `events` (pure functions on arrays) → `figures/` (one file a figure) and
`tables` → `page`.
"""

import logging

# Where the user's home cannot be written to, Matplotlib keeps its list of fonts in a passing folder. That is no news.
logging.getLogger("matplotlib").setLevel(logging.ERROR)
