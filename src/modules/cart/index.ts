import { defineModule } from '../../module.ts'
import { catalogModule } from '../catalog/index.ts'

export const cartModule = defineModule({
  name: 'cart',
  basePaths: ['/api/cart', '/api/guest-cart'],
  requires: { catalog: catalogModule },
  uses: {},
  migrations: new URL('./migrations/', import.meta.url),
  setup: async () => ({ api: {} })
})
