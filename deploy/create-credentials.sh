#!/bin/sh
# Makes the passwords and tokens of docker-compose.yml, each in the folder of the service that uses it; what is there
# already stays. The folders are volumes that only their service mounts, so the files can be readable inside.
set -eu
folder=${1:-/credentials}
umask 022

# put FILE: standard input becomes FILE at once or not at all.
put() {
    cat >"$1.new"
    mv "$1.new" "$1"
}

password() { python3 -c 'import secrets; print(secrets.token_urlsafe(24), end="")'; }

for name in root app monitor; do
    file="$folder/mysql/$name-password"
    [ -s "$file" ] || password | put "$file"
done
put "$folder/agent/mysql-password" <"$folder/mysql/monitor-password"
printf 'app:%s@tcp(mysql:3306)/hits' "$(cat "$folder/mysql/app-password")" | put "$folder/measuring-server/dsn"

known() { [ -s "$tokens" ] && loadwatch token list --token-file "$tokens" | grep -q "^compose-$1[[:space:]]"; }

# make_token ROLE FILE: a token is shown once, when it is made, and kept by the server as a hash only. Where one of the
# two is lost, both are made anew.
make_token() {
    if known "$1"; then
        [ ! -s "$2" ] || return 0
        loadwatch token revoke --name "compose-$1" --token-file "$tokens"
    fi
    loadwatch token create --role "$1" --name "compose-$1" --token-file "$tokens" >"$2.new"
    mv "$2.new" "$2"
}

tokens="$folder/server/tokens.json"
make_token agent "$folder/agent/token"
make_token editor "$folder/load/token"
make_token admin "$folder/admin/token"
echo "credentials are in place; the token to log in with is in $folder/admin/token"
