import type { World } from './world.ts'

type ParameterOf<Name extends string> = Name extends `${string}{${infer Parameter}}${infer Rest}`
  ? Parameter | ParameterOf<Rest>
  : never

/** A request that its route accepts. The driver adds the token of the tier's caller unless `token` names another one. */
export type Prepared<Name extends string = string> = {
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly token?: string
} & ([ParameterOf<Name>] extends [never]
  ? { readonly params?: Readonly<Record<string, string>> }
  : { readonly params: Readonly<Record<ParameterOf<Name>, string>> })

/**
 * Makes what one operation needs, such as the order that it cancels, and returns the request. Each call makes new
 * things, so that the same operation can succeed many times.
 */
export type Fixture<Name extends string = string> = (world: World) => Prepared<Name> | Promise<Prepared<Name>>

/** The fixtures of one module by the names of their operations: a path with `{id}` requires the parameter `id`. */
export const fixturesOf = <T extends object>(
  table: T & { readonly [Name in keyof T]: Fixture<Name & string> }
): T => table

/** For routes that need nothing but their caller. */
export const bare = () => ({})
