#!/bin/sh
echo $$ && sleep 10
