import { giftCardsModule } from '../../examples/gift-cards/gift-cards/index.ts'
import { standardModules } from '../../src/app.ts'
import { runCli } from '../../src/cli/commands.ts'

/** The program that chaos runs: all modules, and gift cards, which another repository provides. */
await runCli([...standardModules, giftCardsModule])
