#!/bin/sh
# A standby of the server PRIMARY_HOST: the first start copies it, every start follows it until it is promoted. Once the old primary
# is down for good:
#
#   docker compose --file deploy/postgres/compose.yaml exec --user postgres standby pg_ctl promote
set -eu

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA"
  chmod 700 "$PGDATA"
  if [ "$(id -u)" = 0 ]; then
    chown -R postgres "$PGDATA"
    as_postgres='gosu postgres'
  else
    as_postgres=
  fi
  # --write-recovery-conf notes where to follow from. The name is the one that the primary waits for.
  export PGPASSWORD="$REPLICATION_PASSWORD"
  $as_postgres pg_basebackup --pgdata "$PGDATA" --checkpoint fast --wal-method stream --write-recovery-conf --dbname \
    "host=$PRIMARY_HOST port=${PRIMARY_PORT:-5432} user=replication application_name=standby"
  unset PGPASSWORD
  # Once it is promoted, it waits for the old primary, which comes back as its standby.
  echo "synchronous_standby_names = 'FIRST 1 (primary)'" >>"$PGDATA/postgresql.conf"
fi

exec docker-entrypoint.sh "$@"
