/**
 * A contract that modules implement for its owner, the module after which it is named: a payment provider, a mail transport.
 * `P`: the type of a provider.
 * @example
 * const isOfMany = ({ providers }: Port): boolean => providers === 'many'
 */
export type Port<P = unknown> = {
  readonly name: `${string}.${string}`
  /** What its providers do, as a sentence for the documentation. */
  readonly description: string
  /** Number of providers: at most one, or any number. */
  readonly providers: 'one' | 'many'
  /** Whether a shop with the owner needs a provider to start. */
  readonly isRequired: boolean
  /** Exists only in the type. */
  readonly contract?: P
}

/**
 * A provider of a port, under a name that is unique among the providers of the port.
 * @example
 * const named = (all: readonly PortProvider[], name: string) => all.find(each => each.name === name)?.provider
 */
export type PortProvider<P = unknown> = {
  readonly port: Port<P>
  readonly name: string
  readonly provider: P
}

const ports = new Map<string, Port>()

/**
 * Declares a port, named after the module that owns it. @throws when the name is declared already.
 * @example
 * const messengerPort = definePort<(text: string) => Promise<void>>('wishlist.messenger', {
 *   description: 'Sends a message to a customer.',
 *   providers: 'many'
 * })
 * assert.equal(messengerPort.isRequired, false)
 */
export function definePort<P>(
  name: Port['name'],
  about: Pick<Port, 'description' | 'providers'> & Partial<Pick<Port, 'isRequired'>>
): Port<P> {
  if (ports.has(name)) throw new Error(`the port ${name} is declared twice`)
  const port: Port<P> = { isRequired: false, ...about, name }
  ports.set(name, port)
  return port
}

/**
 * Offers a provider of a port. A module returns it from set-up.
 * @example
 * const printerPort = definePort<{ print(text: string): string }>('wishlist.printer', {
 *   description: 'Prints a wishlist.',
 *   providers: 'one'
 * })
 * const provided = provide(printerPort, 'plain', { print: text => text })
 * assert.equal(provided.name, 'plain')
 */
export const provide = <P>(port: Port<P>, name: string, provider: NoInfer<P>): PortProvider<P> => ({
  port,
  name,
  provider
})

/** Returns the ports of all modules loaded so far. */
export const listDeclaredPorts = (): readonly Port[] => [...ports.values()]

/**
 * Reads the providers of a module's own ports. @throws before all modules are set up.
 * @example
 * const namesOf = (ports: PortReader, port: Port) => ports.all(port).map(({ name }) => name)
 */
export type PortReader = {
  /** Returns the providers of a port, in the order in which the modules are set up. */
  all<P>(port: Port<P>): readonly PortProvider<P>[]
  /** Returns the only provider of a port; `undefined`: no module provides it. */
  only<P>(port: Port<P>): P | undefined
}
