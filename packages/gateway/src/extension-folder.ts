// What the command line does with the folder of an extension, wherever it is and without a gateway: look at it as the gateway
// would, start it as the gateway would, and say what it would have to be granted.
export { checkFolder, type CheckedFolder, type FolderFault } from './host/sep/find/check-folder.ts';
export { extensionCommand, extensionEnvironment } from './host/sep/process/environment.ts';
export { groupsOn, lackOf, lacksOf, type Lack } from './host/sep/find/lacks.ts';
