"""Searches: flat Monte Carlo, UCB and UCT, on Go and on small games."""

from miai.search.config import SearchConfig, SearchResult
from miai.search.searcher import Searcher

__all__ = ["SearchConfig", "SearchResult", "Searcher"]
