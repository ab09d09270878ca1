import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { noContent } from '../../../kernel/wire.ts'
import * as schema from './schema.ts'
import type { TemplateChanges } from './service.ts'

const config = { class: 'account' } as const
const path = '/admin/notifications/templates/:name/:locale'
const params = schema.TemplateParams

export function templateRoutes(tiers: Tiers, templates: TemplateChanges): void {
  tiers.admin.get(
    '/admin/notifications/templates',
    {
      config,
      schema: {
        summary: 'Templates of mails, in all languages that there are',
        response: { 200: schema.TemplatesResponse }
      }
    },
    () => templates.list()
  )
  tiers.admin.get(
    path,
    { config, schema: { summary: 'A template', params, response: { 200: schema.TemplateResponse } } },
    request => templates.read(request.params)
  )
  tiers.admin.put(
    path,
    {
      config,
      schema: {
        summary: 'Put a template in the place of the one that comes along',
        params,
        body: schema.TemplateRequest,
        response: { 200: schema.TemplateResponse }
      }
    },
    request => templates.put(identityOf(request), request.params, request.body, writeOf(request))
  )
  tiers.admin.delete(
    path,
    { config, schema: { summary: 'Go back to the template that comes along', params, response: noContent } },
    request => templates.remove(identityOf(request), request.params, writeOf(request))
  )
  tiers.admin.post(
    '/admin/notifications/preview',
    {
      config: { ...config, unwritten: 'it shows something, and changes nothing' },
      schema: {
        summary: 'A template with example data, as it is or as it may become',
        body: schema.PreviewRequest,
        response: { 200: schema.PreviewResponse }
      }
    },
    request => templates.preview(request.body)
  )
}
