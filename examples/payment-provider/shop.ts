import { runCli, standardModules } from 'cartwright'
import { acmePayModule } from './acme-pay/index.ts'

await runCli([...standardModules, acmePayModule])
