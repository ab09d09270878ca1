import { runCli, standardModules } from 'cartwright'
import { acmeMailModule } from './mail-transport.ts'
import { knivesModule } from './order-check.ts'
import { acmeTaxModule } from './tax-engine.ts'

await runCli([...standardModules, acmeTaxModule, knivesModule, acmeMailModule])
