"""What the command writes to a terminal, and the conversation held in one."""
