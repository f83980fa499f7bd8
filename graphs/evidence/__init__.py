"""Evidence that stored rows are as they were written: the chains verified, all heads anchored."""
