/** The same server, another database. */
export function databaseNamed(url: string, name: string): string {
  if (url.startsWith('socket:')) return url.replace(/([?&]db=)[^&]*/, `$1${name}`)
  const parsed = new URL(url)
  parsed.pathname = `/${name}`
  return parsed.href
}
