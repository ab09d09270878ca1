const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|\[::1\])$/

/** Returns the name or address in a Host header, in lower case and without the port; undefined when it is invalid. */
export function hostnameIn(host: string): string | undefined {
  const [, name] = /^(\[[\da-f:.]+\]|[^:/\s]+)(?::\d+)?$/i.exec(host) ?? []
  return name?.toLowerCase()
}

/** Whether the name always means this machine: localhost or a loopback address. */
export const isOwnName = (hostname: string): boolean => hostname === 'localhost' || LOOPBACK.test(hostname)
