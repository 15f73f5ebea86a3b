"""New goldens from real history. Everything mined is a draft; everything looked at and not kept is counted with why."""
