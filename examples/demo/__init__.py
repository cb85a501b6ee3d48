"""`make demo`: a real Go server and a real MariaDB under load, stage by stage, with Loadwatch watching."""
