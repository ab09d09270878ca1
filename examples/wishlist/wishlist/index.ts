import { catalogModule, defineModule } from 'cartwright'
import { wishlistSettings } from './settings.ts'
import { wishRoutes } from './wishes/routes.ts'
import { createWishService } from './wishes/service.ts'

export const wishlistModule = defineModule({
  name: 'wishlist',
  description: 'What customers wish for.',
  basePaths: ['/api/wishlist'],
  settings: wishlistSettings,
  requires: { catalog: catalogModule },
  uses: {},
  migrations: new URL('./migrations/', import.meta.url),
  personalData: true,
  setup: async ({ db }, settings, { catalog }) => {
    const wishes = createWishService({ db, catalog, wishesMax: settings.wishes_max })
    return {
      api: {},
      routes: tiers => wishRoutes(tiers, wishes),
      personalData: { erase: wishes.erase, export: wishes.export }
    }
  }
})
