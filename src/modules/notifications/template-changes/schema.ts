import { matching } from '../../../kernel/patterns.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import { input, line, request, response, Version } from '../../../kernel/wire.ts'
import { EVENT_TEMPLATES } from '../templates/catalogue.ts'

export const TemplateNameSchema = Type.Enum([...EVENT_TEMPLATES])
const Locale = Type.String({
  description: 'A language tag.',
  maxLength: 30,
  ...matching('^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$', 'must be a language tag, such as de or de-CH')
})
export const TemplateParams = input({ name: TemplateNameSchema, locale: Locale })
export type TemplateParams = Static<typeof TemplateParams>

const Subject = line(500, 'Liquid, of one line.')
const Text = Type.String({ minLength: 1, maxLength: 100_000, description: 'Liquid.' })
const Html = Type.String({
  minLength: 1,
  maxLength: 100_000,
  description:
    'Liquid; what it shows is escaped. `{% layout "layout" %}` and a block `content` give it the looks of the others.'
})
export const TemplateRequest = request('TemplateRequest', { subject: Subject, text: Text, html: Html })
export type TemplateRequest = Static<typeof TemplateRequest>

const named = { name: TemplateNameSchema, locale: Type.String() }
const isChanged = Type.Boolean({ description: 'It is in the place of the one that comes along.' })
export const TemplateResponse = response('TemplateResponse', {
  ...named,
  is_changed: isChanged,
  version: Version,
  subject: Type.String(),
  text: Type.String(),
  html: Type.String(),
  example: Type.Unsafe<Readonly<Record<string, unknown>>>({
    type: 'object',
    additionalProperties: true,
    description: 'All that it can name, as an example.'
  })
})
export type TemplateResponse = Static<typeof TemplateResponse>
/** As many as there are templates and languages: no list that has pages. */
export const TemplatesResponse = response('TemplatesResponse', {
  items: Type.Array(
    response('TemplateSummaryResponse', {
      ...named,
      description: Type.String({ description: 'When it is told.' }),
      is_changed: isChanged
    })
  )
})
export type TemplatesResponse = Static<typeof TemplatesResponse>

export const PreviewRequest = request('PreviewRequest', {
  template: TemplateNameSchema,
  locale: Type.Optional(Locale),
  subject: Type.Optional(Subject),
  text: Type.Optional(Text),
  html: Type.Optional(Html)
})
export type PreviewRequest = Static<typeof PreviewRequest>
export const PreviewResponse = response('PreviewResponse', {
  locale: Type.String(),
  subject: Type.String(),
  text: Type.String(),
  html: Type.String()
})
export type PreviewResponse = Static<typeof PreviewResponse>
