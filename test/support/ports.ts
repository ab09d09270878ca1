import type { Port, PortProvider, PortReader } from '../../src/kernel/ports.ts'
import { defineModule, type Module } from '../../src/module.ts'

/** A module that only provides these ports. */
export const moduleProviding = (...provides: readonly PortProvider[]): Module =>
  defineModule({
    name: 'provider',
    description: 'Provides ports.',
    basePaths: [],
    requires: {},
    uses: {},
    provides: provides.map(({ port }) => port),
    setup: async () => ({ api: {}, provides })
  })

/** Reads these providers, for a fake that no shop sets up. */
export function portsOf(...providers: readonly PortProvider[]): PortReader {
  const all = <P>(port: Port<P>) => providers.filter(each => each.port === port) as readonly PortProvider<P>[]
  return { all, only: port => all(port)[0]?.provider }
}
