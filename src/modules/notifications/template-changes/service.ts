import { found } from '../../../kernel/errors.ts'
import type { Write } from '../../../platform/idempotency/write.ts'
import type { Database, Queryable } from '../../../platform/postgres/database.ts'
import { templateForbidden, templateInvalid, templateNotFound, templateStale } from '../errors.ts'
import { catalogue, EVENT_TEMPLATES, samplesFor, type TemplateName } from '../templates/catalogue.ts'
import type { TemplateRenderer } from '../templates/renderer.ts'
import * as repository from '../templates/repository.ts'
import { shipped, type Templates, wordsOf } from '../templates/service.ts'
import type { Words } from '../templates/words.ts'
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
 * A mail that lets its reader in says what its template says: whoever wrote a picture into it, whose address holds the token, would
 * be let in as anybody. @throws `NOTIFICATION_TEMPLATE_FORBIDDEN`
 */
function refuseProofs({ scopes }: Caller, name: TemplateName): void {
  if (scopes !== null && 'token' in catalogue[name].example) throw templateForbidden()
}

/** What administrators do to templates: those of theirs stand in the place of those that come along. */
export function createTemplateChanges({ db, renderer, templates, shopName, locale: shopLocale }: Deps) {
  const samples = (name: TemplateName, locale: string) => samplesFor(name, { shopName, locale })
  const findChanged = async (from: Queryable, { name, locale }: TemplateParams) =>
    (await from.rows(repository.listTemplate, { name, locales: [locale] }))[0]

  /** @throws `NOTIFICATION_TEMPLATE_INVALID` */
  async function check(name: TemplateName, locale: string, words: Words): Promise<void> {
    const faults = await renderer.check(words, samples(name, locale))
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
    const words = changed === undefined ? shipped[locale]?.[name] : wordsOf(changed)
    return {
      ...{ name, locale, is_changed: changed !== undefined, version: changed?.version ?? 0 },
      ...found(words, templateNotFound),
      example: samples(name, locale).example
    }
  }

  return {
    read,
    list: async (): Promise<TemplatesResponse> => {
      const changed = await db.rows(repository.listTemplates)
      const isChanged = (name: string, locale: string) =>
        changed.some(row => row.name === name && row.locale === locale)
      const items = EVENT_TEMPLATES.flatMap(name => {
        const own = changed.filter(row => row.name === name).map(({ locale }) => locale)
        const locales = [...new Set([...Object.keys(shipped), ...own])].sort()
        const { description } = catalogue[name]
        return locales.map(locale => ({ name, locale, description, is_changed: isChanged(name, locale) }))
      })
      return { items }
    },
    /** @throws `NOTIFICATION_TEMPLATE_FORBIDDEN`, `NOTIFICATION_TEMPLATE_INVALID`, `NOTIFICATION_TEMPLATE_STALE` */
    put: async (
      caller: Caller,
      params: TemplateParams,
      words: TemplateRequest,
      write: Write
    ): Promise<TemplateResponse> => {
      const { name, locale } = params
      refuseProofs(caller, name)
      await check(name, locale, words)
      await write.once(db, async tx => {
        const version = (await findChanged(tx, params))?.version ?? 0
        write.expect(version, templateStale)
        const { subject, text: body_text, html: body_html } = words
        const row = { name, locale, subject, body_text, body_html, version }
        if ((await tx.first(repository.putTemplate, row)) === undefined) throw templateStale()
      })
      return read(params)
    },
    /** The one that comes along is back, if there is one. @throws `NOTIFICATION_TEMPLATE_FORBIDDEN` and others. */
    remove: async (caller: Caller, params: TemplateParams, write: Write): Promise<void> => {
      refuseProofs(caller, params.name)
      await write.once(db, async tx => {
        const { version } = found(await findChanged(tx, params), templateNotFound)
        write.expect(version, templateStale)
        if ((await tx.run(repository.deleteTemplate, { ...params, version })) === 0) throw templateStale()
      })
    },
    /** With example data; of the parts that are sent, those. @throws `NOTIFICATION_TEMPLATE_INVALID` */
    preview: async ({ template, locale, ...parts }: PreviewRequest): Promise<PreviewResponse> => {
      const [present] = await templates.find(template, locale ?? shopLocale)
      const words = { ...present.words, ...parts }
      await check(template, present.locale, words)
      const { example } = samples(template, present.locale)
      return { locale: present.locale, ...(await renderer.render(words, example)) }
    }
  }
}
export type TemplateChanges = ReturnType<typeof createTemplateChanges>
