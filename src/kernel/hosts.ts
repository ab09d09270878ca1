const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|\[::1\])$/

/** The name or address in the header Host, in lower case and without its port; `undefined` when it is neither. */
export function hostnameIn(host: string): string | undefined {
  const [, name] = /^(\[[\da-f:.]+\]|[^:/\s]+)(?::\d+)?$/i.exec(host) ?? []
  return name?.toLowerCase()
}

/** Whether only this machine goes by this name. */
export const isOwnName = (hostname: string): boolean => hostname === 'localhost' || LOOPBACK.test(hostname)
