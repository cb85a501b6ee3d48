CREATE ROLE shop LOGIN;
CREATE ROLE loadwatch LOGIN PASSWORD 'a long password' CONNECTION LIMIT 4;
GRANT pg_monitor TO loadwatch;
