#!/bin/sh
# One of the two servers, SERVER. The one that LEADER names is the primary; the other is a copy of it, made at its first start, and
# follows it. When the primary is lost:
#
#   docker compose stop primary
#   docker compose exec --user postgres standby pg_ctl promote
#   echo MAYFLY_DATABASE_HOST=standby >> .env
#   docker compose rm --force primary
#   docker volume rm mayfly-postgres_primary
#   docker compose up --detach
#
# The last line leads the nodes to the standby, and makes the lost primary its standby. The next time the names change places.
set -eu

leader=${LEADER_ADDRESS:-host=$LEADER}

if [ "$SERVER" != "$LEADER" ] && [ -s "$PGDATA/PG_VERSION" ] && [ ! -e "$PGDATA/standby.signal" ]; then
  # Nothing may lead to it, and no standby may follow it: it would release once more what was read since.
  echo "$SERVER was the primary before $LEADER. Remove its volume, so that it becomes a copy of $LEADER." >&2
  exit 1
fi

if [ "$SERVER" != "$LEADER" ] && [ ! -s "$PGDATA/PG_VERSION" ]; then
  until pg_isready --quiet --dbname "$leader"; do sleep 1; done
  mkdir -p "$PGDATA"
  chmod 700 "$PGDATA"
  if [ "$(id -u)" = 0 ]; then
    chown -R postgres "$PGDATA"
    as_postgres='gosu postgres'
  else
    as_postgres=
  fi
  # --write-recovery-conf notes where to follow from. The name is the one that the leader waits for.
  export PGPASSWORD="$REPLICATION_PASSWORD"
  $as_postgres pg_basebackup --pgdata "$PGDATA" --checkpoint fast --wal-method stream --write-recovery-conf \
    --dbname "$leader user=replication application_name=$SERVER"
  unset PGPASSWORD
fi

exec docker-entrypoint.sh "$@"
