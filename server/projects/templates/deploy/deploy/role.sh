# The image of Postgres runs this once, when it makes the database. An older database gets it by hand:
#   docker compose --env-file deploy/settings.env -f deploy/compose.yaml exec postgres sh /docker-entrypoint-initdb.d/role.sh
# The servers use a role of their own: row-level security keeps the rows of other tenants from it, and it changes no table.
# A superuser, as POSTGRES_USER is one, is not bound by that.
psql --set ON_ERROR_STOP=1 --set password="$SERVER_PASSWORD" --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
CREATE ROLE journeygraph_server LOGIN PASSWORD :'password';
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO journeygraph_server;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO journeygraph_server;
-- And of the tables that later releases add.
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO journeygraph_server;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE ON SEQUENCES TO journeygraph_server;
SQL
