import {
  booleanSetting,
  integerSetting,
  settingsSection,
  urlWithPasswordSetting
} from '../kernel/settings.ts'

export const DatabaseSettings = settingsSection(
  'PostgreSQL. A process opens up to 27 connections with the default settings.',
  {
    url: urlWithPasswordSetting(
      'Connection URL of PostgreSQL 15 or newer. It may name several hosts, postgres://user:password@host1:5432,host2:5432/database, of which the primary is used. Empty: the embedded PostgreSQL. DATABASE_URL sets it too.'
    ),
    listen_url: urlWithPasswordSetting(
      'Connection URL for LISTEN, when database.url leads to a pooler that does not deliver messages (NOTIFY). Empty: database.url.'
    ),
    replica_url: urlWithPasswordSetting(
      'Connection URL of a streaming standby, or of several. Lists, searches, exports and statistics are read from it while it has every commit that was acknowledged before. Empty: all reads use database.url.'
    ),
    read_only: booleanSetting(
      'Whether the process only reads, so that url may name standbys. It serves public pages, and answers all other requests with 503.',
      false
    ),
    pool_size: integerSetting(
      'Connections per process for transactions. A quarter as many are added for transactions that have waited for a lock.',
      8,
      1,
      200
    ),
    shared_connections: integerSetting('Pipelined connections per process for fast reads.', 2, 1, 16),
    write_connections: integerSetting('Connections per process for single writing statements.', 4, 1, 200),
    slow_connections: integerSetting(
      'Connections per process for searches and lists, so that slow queries never delay other requests; with database.replica_url as many more to the replica.',
      4,
      1,
      200
    ),
    pool_wait_ms: integerSetting(
      'Milliseconds that a request waits for a free connection, and that opening a connection may take. Then the request is refused with 503. Requests also wait for admission before that: up to about a second in a burst, 200 ms under constant overload.',
      2_000,
      50,
      60_000
    ),
    statement_timeout_ms: integerSetting('Milliseconds that one statement may run.', 5_000, 1, 600_000),
    lock_timeout_ms: integerSetting(
      'Milliseconds that a transaction waits for a lock before it releases its connection and is retried.',
      200,
      1,
      60_000
    )
  }
)
