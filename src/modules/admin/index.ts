import { defineModule } from '../../module.ts'
import { eventRoutes } from './events/routes.ts'
import { createEventService } from './events/service.ts'

/** What concerns the shop as a whole, for those who look after it. */
export const adminModule = defineModule({
  name: 'admin',
  description: 'What concerns the whole shop, for administrators: events that could not be handled.',
  basePaths: ['/api/admin'],
  requires: {},
  uses: {},
  setup: async ({ db, deliveries, log }) => {
    const events = createEventService({ db, deliveries, log })
    return { api: {}, routes: tiers => eventRoutes(tiers, events) }
  }
})
