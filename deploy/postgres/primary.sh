#!/bin/sh
# Run once, by the image, on the first server's new database: the service's user, who owns nothing but the service's schema, and the
# standby's user, who may only replicate.
set -eu

psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" \
  --set mayfly="$MAYFLY_DATABASE_PASSWORD" --set replication="$REPLICATION_PASSWORD" <<'SQL'
CREATE ROLE mayfly LOGIN PASSWORD :'mayfly';
CREATE ROLE replication LOGIN REPLICATION PASSWORD :'replication';
REVOKE ALL ON SCHEMA public FROM PUBLIC;
REVOKE ALL ON DATABASE :"DBNAME" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"DBNAME" TO mayfly;
CREATE SCHEMA mayfly_store AUTHORIZATION mayfly;
SQL

# The image lets users log in to databases; a standby asks for none.
echo 'host replication replication all scram-sha-256' >>"$PGDATA/pg_hba.conf"

# From the next start on a commit waits until the other server has it on its disk: with it, the two commits above would wait for one
# that cannot be there yet. The copy has the same line, and waits for this server once it is promoted.
echo "synchronous_standby_names = 'FIRST 1 (primary, standby)'" >>"$PGDATA/postgresql.conf"
