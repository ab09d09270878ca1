import { type Static, type TSchema, Type } from './schema.ts'

// Builders of the configuration's schema: every key has a default and a description, and unknown keys are rejected.

/**
 * A section of keys and inner sections.
 * @example
 * const section = settings.settingsSection('Wishlists.', { wishes_max: settings.integerSetting('Most wishes.', 9) })
 * assert.deepEqual(Object.keys(section.properties), ['wishes_max'])
 */
export const settingsSection = <P extends Record<string, TSchema>>(description: string, properties: P) =>
  Type.Object(properties, { description, additionalProperties: false })
/**
 * A whole number within bounds.
 * @example
 * const setting = settings.integerSetting('The most wishes of one customer.', 100, 1, 1_000)
 * assert.partialDeepStrictEqual(setting, { default: 100, minimum: 1, maximum: 1_000 })
 */
export const integerSetting = (description: string, byDefault: number, minimum = 1, maximum = 1_000_000) =>
  Type.Integer({ description, default: byDefault, minimum, maximum })
/**
 * A boolean.
 * @example
 * assert.partialDeepStrictEqual(settings.booleanSetting('Whether wishes are public.', false), { default: false })
 */
export const booleanSetting = (description: string, byDefault: boolean) =>
  Type.Boolean({ description, default: byDefault })
/**
 * A secret: text that is never printed.
 * @example
 * assert.partialDeepStrictEqual(settings.secretSetting('Key of the search server.'), { writeOnly: true })
 */
export const secretSetting = (description: string) =>
  Type.String({ description, default: '', writeOnly: true })
/**
 * A URL that may contain a password: printed without the password, and not printed when it is invalid.
 * @example
 * const setting = settings.urlWithPasswordSetting('URL of the search server.')
 * assert.partialDeepStrictEqual(setting, { default: '' })
 */
export const urlWithPasswordSetting = (description: string) =>
  Type.String({ description, default: '', 'x-holds-password': true })
/**
 * Any text.
 * @example
 * assert.partialDeepStrictEqual(settings.textSetting('Title of the page.', 'Wishes'), { default: 'Wishes' })
 */
export const textSetting = (description: string, byDefault: string) =>
  Type.String({ description, default: byDefault })

/**
 * Why a setting cannot be used: its key, and what to write instead ("must be ..."). The value is shown beside the message,
 * unless the schema or `isSecret` says that it is a secret.
 * @example
 * const problem: settings.SettingProblem = { key: 'wishes_max', message: 'must be even' }
 */
export type SettingProblem = { readonly key: string; readonly message: string; readonly isSecret?: boolean }

/**
 * The read-only values of a section.
 * @example
 * const section = settings.settingsSection('Wishlists.', { wishes_max: settings.integerSetting('Most wishes.', 9) })
 * const maxOf = ({ wishes_max }: settings.SettingsOf<typeof section>): number => wishes_max
 */
export type SettingsOf<S extends TSchema> = DeepReadonly<Static<S>>
type DeepReadonly<T> = { readonly [K in keyof T]: DeepReadonly<T[K]> }
