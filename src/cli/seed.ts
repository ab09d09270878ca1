import { catalogModule } from '../app.ts'
import { OperatorError } from '../kernel/errors.ts'
import type { Module } from '../module.ts'
import { demoPicturesBaseUrl, loadDemoCatalogIntoEmptyShop } from './first-start.ts'
import { withShopModulesForCommand } from './with-shop.ts'

/** Loads the demo catalog and its shipping methods into a shop without products. */
export const seedDemoCatalog = (modules: readonly Module[], { json }: { json: boolean }): Promise<void> =>
  withShopModulesForCommand(modules, async ({ config, apiOf }) => {
    if (!(await apiOf(catalogModule).isEmpty()))
      throw new OperatorError(
        'The catalog has products already. The demo can be loaded into an empty catalog only.'
      )
    const address = demoPicturesBaseUrl(config, `http://127.0.0.1:${config.server.port}`)
    const products = await loadDemoCatalogIntoEmptyShop({ apiOf }, config.shop.currency, address)
    process.stdout.write(
      json ? `${JSON.stringify({ products })}\n` : `Loaded the demo catalog: ${products} products.\n`
    )
  })
