import pg from 'pg'

/** Runs one statement beside the application: to look behind it, or to make happen what only time would. */
export async function runSql(url: string, text: string, values: unknown[] = []) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text, values)).rows
  } finally {
    await client.end()
  }
}
