import { runCli, standardModules } from 'cartwright'
import { giftCardsModule } from './gift-cards/index.ts'

await runCli([...standardModules, giftCardsModule])
