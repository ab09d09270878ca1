import { runCli, standardModules } from 'cartwright'
import { wishlistModule } from './wishlist/index.ts'

await runCli([...standardModules, wishlistModule])
