import { found } from '../../../kernel/errors.ts'
import type { CacheInvalidator } from '../../../platform/cached.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Queryable } from '../../../platform/postgres/database.ts'
import {
  mailTemplateForbiddenError,
  mailTemplateInvalidError,
  mailTemplateNotFoundError,
  mailTemplateStaleError
} from '../errors.ts'
import {
  MAIL_TEMPLATE_NAMES,
  type MailTemplateName,
  mailTemplateDefinitions,
  mailTemplateSamplesFor
} from '../templates/definitions.ts'
import type { MailTemplateSource } from '../templates/mail-parts.ts'
import type { MailTemplateRenderer } from '../templates/renderer.ts'
import * as repository from '../templates/repository.ts'
import {
  bundledMailTemplates,
  type MailTemplateFinder,
  mailTemplateSourceOfRow
} from '../templates/service.ts'
import type {
  MailPreviewRequest,
  MailPreviewResponse,
  MailTemplateListResponse,
  MailTemplateParams,
  MailTemplateRequest,
  MailTemplateResponse
} from './schema.ts'

type Caller = { readonly scopes: readonly string[] | null }
type Deps = {
  db: Database
  renderer: MailTemplateRenderer
  templates: MailTemplateFinder
  invalidation: CacheInvalidator
  shopName: string
  locale: string
}

/**
 * Rejects templates that contain a token, unless the caller has full access. A template could send the token to a foreign
 * server, for example in the URL of an image. Its author could then take over any account.
 * @throws `NOTIFICATION_TEMPLATE_FORBIDDEN`
 */
function assertMayEdit({ scopes }: Caller, name: MailTemplateName): void {
  if (scopes !== null && 'token' in mailTemplateDefinitions[name].example) throw mailTemplateForbiddenError()
}

/** Lists, replaces, resets and previews templates. Templates of administrators take precedence over the built-in ones. */
export function createMailTemplateAdministration({
  db,
  renderer,
  templates,
  invalidation,
  shopName,
  locale: shopLocale
}: Deps) {
  const samples = (name: MailTemplateName, locale: string) =>
    mailTemplateSamplesFor(name, { shopName, locale })
  const findChanged = async (from: Queryable, { name, locale }: MailTemplateParams) =>
    (await from.rows(repository.listMailTemplateTranslations, { name, locales: [locale] }))[0]

  /** @throws `NOTIFICATION_TEMPLATE_INVALID` */
  async function check(name: MailTemplateName, locale: string, source: MailTemplateSource): Promise<void> {
    const faults = await renderer.check(source, samples(name, locale))
    if (faults.length === 0) return
    const errors = faults.map(({ part, line, message }) => ({
      path: `body/${part}`,
      message: `line ${line}: ${message}`,
      line
    }))
    throw mailTemplateInvalidError({ details: { errors } })
  }

  /** @throws `NOTIFICATION_TEMPLATE_NOT_FOUND` */
  async function read(params: MailTemplateParams): Promise<MailTemplateResponse> {
    const { name, locale } = params
    const changed = await findChanged(db, params)
    const source =
      changed === undefined ? bundledMailTemplates[locale]?.[name] : mailTemplateSourceOfRow(changed)
    return {
      name,
      locale,
      is_changed: changed !== undefined,
      version: changed?.version ?? 0,
      ...found(source, mailTemplateNotFoundError),
      example: samples(name, locale).example
    }
  }

  return {
    read,
    list: async (): Promise<MailTemplateListResponse> => {
      const changed = await db.rows(repository.listStoredMailTemplates)
      const isChanged = (name: string, locale: string) =>
        changed.some(row => row.name === name && row.locale === locale)
      const items = MAIL_TEMPLATE_NAMES.flatMap(name => {
        const own = changed.filter(row => row.name === name).map(({ locale }) => locale)
        const locales = [...new Set([...Object.keys(bundledMailTemplates), ...own])].sort()
        const { description } = mailTemplateDefinitions[name]
        return locales.map(locale => ({ name, locale, description, is_changed: isChanged(name, locale) }))
      })
      return { items }
    },
    /** @throws `NOTIFICATION_TEMPLATE_FORBIDDEN`, `NOTIFICATION_TEMPLATE_INVALID`, `NOTIFICATION_TEMPLATE_STALE` */
    put: async (
      caller: Caller,
      params: MailTemplateParams,
      source: MailTemplateRequest,
      write: IdempotentWrite
    ): Promise<MailTemplateResponse> => {
      const { name, locale } = params
      assertMayEdit(caller, name)
      await check(name, locale, source)
      await write.once(db, async tx => {
        const version = (await findChanged(tx, params))?.version ?? 0
        write.expect(version, mailTemplateStaleError)
        const { subject, text: body_text, html: body_html } = source
        const row = { name, locale, subject, body_text, body_html, version }
        if ((await tx.first(repository.upsertMailTemplate, row)) === undefined) throw mailTemplateStaleError()
        invalidation.publish(tx)
      })
      return read(params)
    },
    /** @throws `NOTIFICATION_TEMPLATE_FORBIDDEN`, `NOTIFICATION_TEMPLATE_NOT_FOUND`, `NOTIFICATION_TEMPLATE_STALE` */
    remove: async (caller: Caller, params: MailTemplateParams, write: IdempotentWrite): Promise<void> => {
      assertMayEdit(caller, params.name)
      await write.once(db, async tx => {
        const { version } = found(await findChanged(tx, params), mailTemplateNotFoundError)
        write.expect(version, mailTemplateStaleError)
        if ((await tx.run(repository.deleteMailTemplate, { ...params, version })) === 0)
          throw mailTemplateStaleError()
        invalidation.publish(tx)
      })
    },
    /** Renders the stored template, with the given parts replaced, with example data. @throws `NOTIFICATION_TEMPLATE_INVALID` */
    preview: async ({ template, locale, ...parts }: MailPreviewRequest): Promise<MailPreviewResponse> => {
      const [present] = await templates.find(template, locale ?? shopLocale)
      const source = { ...present.source, ...parts }
      await check(template, present.locale, source)
      const { example } = samples(template, present.locale)
      return { locale: present.locale, ...(await renderer.render(source, example)) }
    }
  }
}
export type MailTemplateAdministration = ReturnType<typeof createMailTemplateAdministration>
