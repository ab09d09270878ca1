const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|\[::1\])$/

/** Returns the name or address in a Host header, in lower case and without the port; undefined when it is invalid. */
export function hostnameOfHostHeader(host: string): string | undefined {
  const [, name] = /^(\[[\da-f:.]+\]|[^:/\s]+)(?::\d+)?$/i.exec(host) ?? []
  return name?.toLowerCase()
}

/** Whether the name is localhost or a loopback address. */
export const isLoopbackHost = (hostname: string): boolean =>
  hostname === 'localhost' || LOOPBACK.test(hostname)
