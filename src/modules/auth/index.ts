import type { Authenticate } from '../../gateway/identity.ts'
import { defineModule } from '../../module.ts'

/** What other parts of the shop may ask of auth. */
export type AuthApi = { authenticate: Authenticate }

export const authModule = defineModule({
  name: 'auth',
  basePaths: ['/api/auth'],
  requires: {},
  uses: {},
  migrations: new URL('./migrations/', import.meta.url),
  setup: async () => {
    const api: AuthApi = { authenticate: () => Promise.reject(new Error('not yet')) }
    return { api }
  }
})
