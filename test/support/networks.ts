let networks = 0

/** Returns an address for each network that a test names. No other test of a shared shop orders from it. */
export function ownNetworks(): (name: string) => string {
  const addresses = new Map<string, string>()
  return name => {
    const known = addresses.get(name)
    if (known !== undefined) return known
    networks += 1
    const address = `10.${(networks >> 16) & 255}.${(networks >> 8) & 255}.${networks & 255}`
    addresses.set(name, address)
    return address
  }
}
