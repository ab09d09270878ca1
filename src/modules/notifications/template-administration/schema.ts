import { patternWithMessage } from '../../../kernel/patterns.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import { input, line, request, response, Version } from '../../../kernel/wire.ts'
import { MAIL_TEMPLATE_NAMES } from '../templates/definitions.ts'

export const MailTemplateNameSchema = Type.Enum([...MAIL_TEMPLATE_NAMES])
const Locale = Type.String({
  description: 'Language tag, such as de or de-CH.',
  maxLength: 30,
  ...patternWithMessage(
    '^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$',
    'must be a language tag, such as de or de-CH'
  )
})
export const MailTemplateParams = input({ name: MailTemplateNameSchema, locale: Locale })
export type MailTemplateParams = Static<typeof MailTemplateParams>

const Subject = line(500, 'Liquid template of the subject, on one line.')
const Text = Type.String({
  minLength: 1,
  maxLength: 100_000,
  description: 'Liquid template of the plain text.'
})
const Html = Type.String({
  minLength: 1,
  maxLength: 100_000,
  description:
    'Liquid template of the HTML; output is escaped. `{% layout "layout" %}` with a block `content` uses the common layout of mails.'
})
export const MailTemplateRequest = request('TemplateRequest', { subject: Subject, text: Text, html: Html })
export type MailTemplateRequest = Static<typeof MailTemplateRequest>

const nameAndLocale = { name: MailTemplateNameSchema, locale: Type.String({ description: 'Language tag.' }) }
const isChanged = Type.Boolean({ description: 'True: an administrator replaced or added the template.' })
export const MailTemplateResponse = response('TemplateResponse', {
  ...nameAndLocale,
  is_changed: isChanged,
  version: Version,
  subject: Type.String(),
  text: Type.String(),
  html: Type.String(),
  example: Type.Unsafe<Readonly<Record<string, unknown>>>({
    type: 'object',
    additionalProperties: true,
    description: 'Every variable that the template can use, with an example value.'
  })
})
export type MailTemplateResponse = Static<typeof MailTemplateResponse>
/** The list of templates is not paginated, because the number of templates and languages is small. */
export const MailTemplateListResponse = response('TemplatesResponse', {
  items: Type.Array(
    response('TemplateSummaryResponse', {
      ...nameAndLocale,
      description: Type.String({ description: 'When the mail is sent.' }),
      is_changed: isChanged
    })
  )
})
export type MailTemplateListResponse = Static<typeof MailTemplateListResponse>

export const MailPreviewRequest = request('PreviewRequest', {
  template: MailTemplateNameSchema,
  locale: Type.Optional(Locale),
  subject: Type.Optional(Subject),
  text: Type.Optional(Text),
  html: Type.Optional(Html)
})
export type MailPreviewRequest = Static<typeof MailPreviewRequest>
export const MailPreviewResponse = response('PreviewResponse', {
  locale: Type.String(),
  subject: Type.String(),
  text: Type.String(),
  html: Type.String()
})
export type MailPreviewResponse = Static<typeof MailPreviewResponse>
