/** How tests, and programs that tests start, use a database. */
export const testDatabaseOptions = (url: string) => ({
  url,
  poolSize: 8,
  sharedConnections: 2,
  writeConnections: 2,
  slowConnections: 2,
  poolWaitMs: 10_000,
  statementTimeoutMs: 20_000,
  lockTimeoutMs: 200
})
