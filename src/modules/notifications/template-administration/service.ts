import { found } from '../../../kernel/errors.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Queryable } from '../../../platform/postgres/database.ts'
import { templateForbidden, templateInvalid, templateNotFound, templateStale } from '../errors.ts'
import {
  samplesFor,
  TEMPLATE_NAMES,
  type TemplateName,
  templateDefinitions
} from '../templates/definitions.ts'
import type { TemplateSource } from '../templates/mail-parts.ts'
import type { TemplateRenderer } from '../templates/renderer.ts'
import * as repository from '../templates/repository.ts'
import { bundledTemplates, sourceOf, type Templates } from '../templates/service.ts'
import type {
  PreviewRequest,
  PreviewResponse,
  TemplateParams,
  TemplateRequest,
  TemplateResponse,
  TemplatesResponse
} from './schema.ts'

type Caller = { readonly scopes: readonly string[] | null }
type Deps = {
  db: Database
  renderer: TemplateRenderer
  templates: Templates
  shopName: string
  locale: string
}

/**
 * Rejects templates that contain a token, unless the caller has full access. A template could send the token to a foreign
 * server, for example in the URL of an image, and its author could take over any account.
 * @throws `NOTIFICATION_TEMPLATE_FORBIDDEN`
 */
function assertMayEdit({ scopes }: Caller, name: TemplateName): void {
  if (scopes !== null && 'token' in templateDefinitions[name].example) throw templateForbidden()
}

/** Lists, replaces, resets and previews templates. Templates of administrators take precedence over the built-in ones. */
export function createTemplateAdministration({
  db,
  renderer,
  templates,
  shopName,
  locale: shopLocale
}: Deps) {
  const samples = (name: TemplateName, locale: string) => samplesFor(name, { shopName, locale })
  const findChanged = async (from: Queryable, { name, locale }: TemplateParams) =>
    (await from.rows(repository.listTemplate, { name, locales: [locale] }))[0]

  /** @throws `NOTIFICATION_TEMPLATE_INVALID` */
  async function check(name: TemplateName, locale: string, source: TemplateSource): Promise<void> {
    const faults = await renderer.check(source, samples(name, locale))
    if (faults.length === 0) return
    const errors = faults.map(({ part, line, message }) => ({
      path: `body/${part}`,
      message: `line ${line}: ${message}`,
      line
    }))
    throw templateInvalid({ details: { errors } })
  }

  /** @throws `NOTIFICATION_TEMPLATE_NOT_FOUND` */
  async function read(params: TemplateParams): Promise<TemplateResponse> {
    const { name, locale } = params
    const changed = await findChanged(db, params)
    const source = changed === undefined ? bundledTemplates[locale]?.[name] : sourceOf(changed)
    return {
      name,
      locale,
      is_changed: changed !== undefined,
      version: changed?.version ?? 0,
      ...found(source, templateNotFound),
      example: samples(name, locale).example
    }
  }

  return {
    read,
    list: async (): Promise<TemplatesResponse> => {
      const changed = await db.rows(repository.listTemplates)
      const isChanged = (name: string, locale: string) =>
        changed.some(row => row.name === name && row.locale === locale)
      const items = TEMPLATE_NAMES.flatMap(name => {
        const own = changed.filter(row => row.name === name).map(({ locale }) => locale)
        const locales = [...new Set([...Object.keys(bundledTemplates), ...own])].sort()
        const { description } = templateDefinitions[name]
        return locales.map(locale => ({ name, locale, description, is_changed: isChanged(name, locale) }))
      })
      return { items }
    },
    /** @throws `NOTIFICATION_TEMPLATE_FORBIDDEN`, `NOTIFICATION_TEMPLATE_INVALID`, `NOTIFICATION_TEMPLATE_STALE` */
    put: async (
      caller: Caller,
      params: TemplateParams,
      source: TemplateRequest,
      write: IdempotentWrite
    ): Promise<TemplateResponse> => {
      const { name, locale } = params
      assertMayEdit(caller, name)
      await check(name, locale, source)
      await write.once(db, async tx => {
        const version = (await findChanged(tx, params))?.version ?? 0
        write.expect(version, templateStale)
        const { subject, text: body_text, html: body_html } = source
        const row = { name, locale, subject, body_text, body_html, version }
        if ((await tx.first(repository.putTemplate, row)) === undefined) throw templateStale()
      })
      return read(params)
    },
    /** @throws `NOTIFICATION_TEMPLATE_FORBIDDEN`, `NOTIFICATION_TEMPLATE_NOT_FOUND`, `NOTIFICATION_TEMPLATE_STALE` */
    remove: async (caller: Caller, params: TemplateParams, write: IdempotentWrite): Promise<void> => {
      assertMayEdit(caller, params.name)
      await write.once(db, async tx => {
        const { version } = found(await findChanged(tx, params), templateNotFound)
        write.expect(version, templateStale)
        if ((await tx.run(repository.deleteTemplate, { ...params, version })) === 0) throw templateStale()
      })
    },
    /** Renders the stored template, with the given parts replaced, with example data. @throws `NOTIFICATION_TEMPLATE_INVALID` */
    preview: async ({ template, locale, ...parts }: PreviewRequest): Promise<PreviewResponse> => {
      const [present] = await templates.find(template, locale ?? shopLocale)
      const source = { ...present.source, ...parts }
      await check(template, present.locale, source)
      const { example } = samples(template, present.locale)
      return { locale: present.locale, ...(await renderer.render(source, example)) }
    }
  }
}
export type TemplateAdministration = ReturnType<typeof createTemplateAdministration>
