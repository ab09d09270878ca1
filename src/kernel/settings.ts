import { type Static, type TSchema, Type } from './schema.ts'

// Builders of the configuration's schema: every key has a default and a description, and unknown keys are rejected.

/** A section of keys and inner sections. */
export const settingsSection = <P extends Record<string, TSchema>>(description: string, properties: P) =>
  Type.Object(properties, { description, additionalProperties: false })
/** A whole number within bounds. */
export const integerSetting = (description: string, byDefault: number, minimum = 1, maximum = 1_000_000) =>
  Type.Integer({ description, default: byDefault, minimum, maximum })
/** A boolean. */
export const booleanSetting = (description: string, byDefault: boolean) =>
  Type.Boolean({ description, default: byDefault })
/** A secret: text that is never printed. */
export const secretSetting = (description: string) =>
  Type.String({ description, default: '', writeOnly: true })
/** A URL that may contain a password: printed without the password, and not printed when it is invalid. */
export const urlWithPasswordSetting = (description: string) =>
  Type.String({ description, default: '', 'x-holds-password': true })
/** Any text. */
export const textSetting = (description: string, byDefault: string) =>
  Type.String({ description, default: byDefault })

/**
 * Why a setting cannot be used: its key, and what to write instead ("must be ..."). The value is shown beside the message,
 * unless the schema or `isSecret` says that it is a secret.
 */
export type SettingProblem = { readonly key: string; readonly message: string; readonly isSecret?: boolean }

/** The read-only values of a section. */
export type SettingsOf<S extends TSchema> = DeepReadonly<Static<S>>
type DeepReadonly<T> = { readonly [K in keyof T]: DeepReadonly<T[K]> }
