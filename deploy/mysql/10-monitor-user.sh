# Sourced once by the database image, on an empty data directory: the account that Loadwatch's agent reads with, and no
# more than it needs. `docker_process_sql` is the image's own.
docker_process_sql <<SQL
CREATE USER 'loadwatch'@'%' IDENTIFIED BY '$(cat /credentials/mysql/monitor-password)' WITH MAX_USER_CONNECTIONS 5;
GRANT PROCESS, SLAVE MONITOR ON *.* TO 'loadwatch'@'%';
GRANT SELECT ON performance_schema.* TO 'loadwatch'@'%';
GRANT SELECT ON hits.* TO 'loadwatch'@'%';
SQL
