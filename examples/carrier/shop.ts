import { runCli, standardModules } from 'cartwright'
import { acmeParcelsModule } from './acme-parcels/index.ts'

await runCli([...standardModules, acmeParcelsModule])
