import type { FastifyInstance } from 'fastify'
import type { Config } from '../../platform/core-settings.ts'
import { createDevelopmentPeerCheck } from '../http-server/development-access.ts'
import { mountOpenApi } from './docs-page.ts'
import { type FrontPageContent, mountFrontPage } from './front-page.ts'
import { type DevelopmentMails, mountMailsPage } from './mails-page.ts'
import { mountPublicFiles, type PublicFiles } from './public-files.ts'
import { mountShopFront } from './shop-front.ts'
import type { FindWebFile } from './web-files.ts'
import { mountWellKnown } from './well-known.ts'

export type GatewayPages = {
  /** Served at `/`. */
  frontPage?: FrontPageContent
  /** Served at `/shop`. */
  shopFront?: FindWebFile | undefined
  /** Served at `/mails`. */
  mails?: DevelopmentMails | undefined
  files?: readonly PublicFiles[]
}
type Deps = { config: Config; version: string; writeDocument: () => Promise<string> }

/** Mounts everything outside `/api` except diagnostics. */
export function mountPages(
  app: FastifyInstance,
  { config, version, writeDocument }: Deps,
  { frontPage, shopFront, mails, files = [] }: GatewayPages
): void {
  const { docs, public_url: publicUrl, private_metrics: hasPrivateMetrics } = config.server
  const { security_contacts: securityContacts } = config.server
  const hasDocs = docs === 'auto' ? config.environment === 'development' : docs === 'on'
  if (hasDocs) mountOpenApi(app, writeDocument)
  if (frontPage !== undefined)
    mountFrontPage(app, {
      ...frontPage,
      name: config.shop.name,
      version,
      publicUrl,
      hasDocs,
      hasPrivateMetrics,
      hasShopFront: shopFront !== undefined,
      hasMails: mails !== undefined
    })
  if (shopFront !== undefined) mountShopFront(app, shopFront)
  if (mails !== undefined) mountMailsPage(app, mails, createDevelopmentPeerCheck(config))
  mountPublicFiles(app, files)
  mountWellKnown(app, { publicUrl, securityContacts, hasDocs })
}
