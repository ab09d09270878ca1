import type { FastifyInstance } from 'fastify'
import type { Config } from '../../config.ts'
import { createPeerCheck } from '../door/development.ts'
import { mountOpenApi } from './docs-page.ts'
import { type FrontPage, mountFrontPage } from './front-page.ts'
import { type Mails, mountMails } from './mails-page.ts'
import { mountPublicFiles, type PublicFiles } from './public-files.ts'
import { mountShopFront } from './shop-front.ts'
import type { WebFiles } from './web-files.ts'
import { mountWellKnown } from './well-known.ts'

export type Pages = {
  /** What is shown at `/`. */
  frontPage?: FrontPage
  /** What is shown at `/shop`. */
  shopFront?: WebFiles | undefined
  /** What is shown at `/mails`. */
  mails?: Mails | undefined
  files?: readonly PublicFiles[]
}
type Deps = { config: Config; version: string; writeDocument: () => Promise<string> }

/** Mounts everything outside `/api` that is no diagnostic endpoint. */
export function mountPages(
  app: FastifyInstance,
  { config, version, writeDocument }: Deps,
  { frontPage, shopFront, mails, files = [] }: Pages
): void {
  const { docs, public_url: publicUrl, private_metrics: hasPrivateMetrics } = config.server
  const { security_contacts: securityContacts } = config.server
  const hasDocs = docs === 'auto' ? config.environment === 'development' : docs === 'on'
  if (hasDocs) mountOpenApi(app, writeDocument)
  if (frontPage !== undefined)
    mountFrontPage(app, {
      ...{ ...frontPage, name: config.shop.name, version, publicUrl, hasDocs, hasPrivateMetrics },
      hasShopFront: shopFront !== undefined,
      hasMails: mails !== undefined
    })
  if (shopFront !== undefined) mountShopFront(app, shopFront)
  if (mails !== undefined) mountMails(app, mails, createPeerCheck(config))
  mountPublicFiles(app, files)
  mountWellKnown(app, { publicUrl, securityContacts, hasDocs })
}
