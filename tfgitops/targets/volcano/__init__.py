"""Volcano: what a cluster with Volcano does with a Job or a Queue, each answer in one module (docs/volcano.md).

Question                                                              Module
What does the cluster store, where is it not Git's, what is fixed?    defaults
Would the cluster admit a Job?                                        job (asks tasks)
Would the cluster admit a Queue beside the others?                    queue (asks queuetree)
What is admitted, and then hangs, fails or does nothing?              useless
Which of our rules refuse what the cluster takes, and why?            stricter
Must a Job that is like an earlier one be judged at all?              lookalikes
What does a Job do that loses pods, as by a scale-down?               loss
What names a run, and which fields change in place?                   identity
"""
