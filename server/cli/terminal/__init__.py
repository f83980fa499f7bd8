"""Output of the command on a terminal, and a conversation held in one."""
