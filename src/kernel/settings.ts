import { type Static, type TSchema, Type } from './schema.ts'

// What the configuration is described with: every key has a default and a sentence, and unknown ones are refused.

/** A section: its keys, each made by one of the next three, or a section again. */
export const section = <P extends Record<string, TSchema>>(description: string, properties: P) =>
  Type.Object(properties, { description, additionalProperties: false })
/** A whole number within bounds. */
export const count = (description: string, byDefault: number, minimum = 1, maximum = 1_000_000) =>
  Type.Integer({ description, default: byDefault, minimum, maximum })
/** Yes or no. */
export const flag = (description: string, byDefault: boolean) =>
  Type.Boolean({ description, default: byDefault })
/** What proves who the shop is, or somebody: a text that is written and never shown. */
export const secret = (description: string) => Type.String({ description, default: '', writeOnly: true })
/** A URL that may hold a password: it is shown without it, and a wrong one is not repeated at all. */
export const urlWithPassword = (description: string) =>
  Type.String({ description, default: '', 'x-holds-password': true })
/** Any text. */
export const text = (description: string, byDefault: string) =>
  Type.String({ description, default: byDefault })

/**
 * Why a setting cannot be used: its key, and what to write instead ("must be ..."). The value is shown beside the message,
 * unless the schema or `isSecret` says that it is a secret.
 */
export type SettingProblem = { readonly key: string; readonly message: string; readonly isSecret?: boolean }

/** The values of a described section, as they are after the start: nobody can change them. */
export type SettingsOf<S extends TSchema> = DeepReadonly<Static<S>>
type DeepReadonly<T> = { readonly [K in keyof T]: DeepReadonly<T[K]> }
