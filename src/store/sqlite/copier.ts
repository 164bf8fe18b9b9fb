/** The thread that writes or restores a backup. */
import { runTask, type Task } from './backup.ts';

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<Task>) => self.postMessage(runTask(data));
