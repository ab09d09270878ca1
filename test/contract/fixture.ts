import type { ContractShop } from './world.ts'

type ParameterOf<Name extends string> = Name extends `${string}{${infer Parameter}}${infer Rest}`
  ? Parameter | ParameterOf<Rest>
  : never

/** A request that its route accepts. Without `token`, it is sent with the token of a caller of the route's tier. */
export type PreparedRequest<Name extends string = string> = {
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly token?: string
} & ([ParameterOf<Name>] extends [never]
  ? { readonly params?: Readonly<Record<string, string>> }
  : { readonly params: Readonly<Record<ParameterOf<Name>, string>> })

/**
 * Creates the resources that one operation needs, such as the order that it cancels, and returns the request. Each call
 * creates new resources, so that the same operation can succeed many times.
 */
export type Fixture<Name extends string = string> = (
  world: ContractShop
) => PreparedRequest<Name> | Promise<PreparedRequest<Name>>

/** The fixtures of one module by the names of their operations: a path with `{id}` requires the parameter `id`. */
export const fixturesOf = <T extends object>(
  table: T & { readonly [Name in keyof T]: Fixture<Name & string> }
): T => table

/** The fixture of routes without parameters and body. */
export const withoutFields = () => ({})
