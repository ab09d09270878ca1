import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { noContent } from '../../../kernel/wire.ts'
import * as schema from './schema.ts'
import type { MailTemplateAdministration } from './service.ts'

const config = { class: 'account' } as const
const path = '/admin/notifications/templates/:name/:locale'
const params = schema.MailTemplateParams

export function mailTemplateRoutes(tiers: Tiers, templates: MailTemplateAdministration): void {
  tiers.admin.get(
    '/admin/notifications/templates',
    {
      config,
      schema: {
        summary: 'List mail templates',
        description:
          'Returns every template in every available language, with the event that sends it. `is_changed` marks those that an administrator replaced.',
        response: { 200: schema.MailTemplateListResponse }
      }
    },
    () => templates.list()
  )
  tiers.admin.get(
    path,
    {
      config,
      schema: {
        summary: 'Retrieve a mail template',
        description:
          'Returns the subject, text and HTML of a template in one language, as Liquid. `example` contains every variable that the template can use. 404 `NOTIFICATION_TEMPLATE_NOT_FOUND`: there is no template in this language; `PUT` creates one.',
        params,
        response: { 200: schema.MailTemplateResponse }
      }
    },
    request => templates.read(request.params)
  )
  tiers.admin.put(
    path,
    {
      config,
      schema: {
        summary: 'Replace a mail template',
        description:
          'Stores a template that replaces the built-in one, or adds a language. Every branch is checked against `example` before it is stored. 400 `NOTIFICATION_TEMPLATE_INVALID`: `errors` name the part, the line and the reason. 403 `NOTIFICATION_TEMPLATE_FORBIDDEN`: templates of mails with a login or reset link need an administrator with full access. 412 `NOTIFICATION_TEMPLATE_STALE`: read the template again and send its version as `If-Match`.',
        params,
        body: schema.MailTemplateRequest,
        response: { 200: schema.MailTemplateResponse }
      }
    },
    request => templates.put(identityOf(request), request.params, request.body, writeOf(request))
  )
  tiers.admin.delete(
    path,
    {
      config,
      schema: {
        summary: 'Reset a mail template',
        description:
          'Deletes the template of an administrator. The built-in template of the language is used again, or that of a fallback language. 403 `NOTIFICATION_TEMPLATE_FORBIDDEN`: templates of mails with a login or reset link need an administrator with full access. 404 `NOTIFICATION_TEMPLATE_NOT_FOUND`: the template was not changed. 412 `NOTIFICATION_TEMPLATE_STALE`: read the template again and send its version as `If-Match`.',
        params,
        response: noContent
      }
    },
    request => templates.remove(identityOf(request), request.params, writeOf(request))
  )
  tiers.admin.post(
    '/admin/notifications/preview',
    {
      config: { ...config, noReplay: 'a preview changes nothing' },
      schema: {
        summary: 'Preview a mail template',
        description:
          'Renders a template with example data. The parts in the request replace those that are stored, so you can check a change before you store it. No mail is sent. 400 `NOTIFICATION_TEMPLATE_INVALID`: `errors` name the part, the line and the reason. 503 `NOTIFICATION_RENDERER_BUSY`: try again shortly.',
        body: schema.MailPreviewRequest,
        response: { 200: schema.MailPreviewResponse }
      }
    },
    request => templates.preview(request.body)
  )
}
